'use strict';
/* What a page can do with a script, and does not need it for: a click on the head of a
   column sorts a table by it, and a word filters benchmarks. It loads and sends nothing. */
(() => {
  const factors = { ns: 1e-9, 'µs': 1e-6, ms: 1e-3, s: 1, k: 1e3, M: 1e6, G: 1e9, Ki: 1024, Mi: 1 << 20, Gi: 1 << 30, '%': .01 };
  const value = (cell) => {
    const text = cell.innerText.trim();
    const m = /^([×+−-]?)(\d[\d.]*)\s*(ns|µs|ms|s|Ki|Mi|Gi|k|M|G|%)?/.exec(text);
    if (!m) return text.toLowerCase();
    const n = m[2] * (factors[m[3]] || 1);
    return m[1] === '×' ? n - 1 : m[1] === '−' || m[1] === '-' ? -n : n;
  };
  const compare = (a, b) => typeof a === 'number' && typeof b === 'number' ? a - b : typeof a === 'number' ? -1 : typeof b === 'number' ? 1 : a.localeCompare(b);
  const sort = (table, head, column) => {
    const down = head.getAttribute('aria-sort') === 'ascending';
    for (const th of table.tHead.rows[0].cells) th.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [value(row.cells[column]), row]);
    rows.sort((a, b) => down ? compare(b[0], a[0]) : compare(a[0], b[0]));
    body.append(...rows.map((r) => r[1]));
  };
  for (const table of document.querySelectorAll('main table')) {
    if (!table.tHead || table.tBodies[0].rows.length < 3 || table.querySelector('[scope=rowgroup]')) continue;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      if (!head.innerText.trim() || head.classList.contains('pic')) return;
      const button = document.createElement('button');
      button.append(...head.childNodes);
      button.title = 'sort by this column';
      button.addEventListener('click', () => sort(table, head, column));
      head.append(button);
    });
  }
  const found = document.querySelectorAll('table.heat tbody tr, table.pair tbody tr, table.list tbody tr, table.answer tbody, section.benchmark');
  if (found.length < 6) return;
  const box = document.createElement('input');
  box.type = 'search';
  box.placeholder = 'filter';
  box.setAttribute('aria-label', 'show only what has these words in it');
  box.addEventListener('input', () => {
    const words = box.value.toLowerCase().split(/\s+/);
    for (const el of found) {
      const name = (el.querySelector('h3') || el.querySelector('[scope=rowgroup]') || el).textContent.toLowerCase();
      el.hidden = !words.every((word) => name.includes(word));
    }
  });
  (document.querySelector('nav') || document.querySelector('header')).append(box);
})();
