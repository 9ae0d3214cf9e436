// Keeps the page of a run that goes on up to date: it asks every two seconds
// whether there is something new, as long as the page is visible.
"use strict";
(async () => {
  const part = document.getElementById("part");
  const state = document.getElementById("state");
  let tag = "";
  for (;;) {
    await new Promise((done) => setTimeout(done, 2000));
    if (document.hidden) continue;
    try {
      const answer = await fetch("live/part", { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store" });
      if (answer.status === 304) continue;
      if (!answer.ok) throw new Error("the server says " + answer.status);
      tag = answer.headers.get("ETag") || "";
      part.innerHTML = await answer.text();
      state.textContent = part.firstElementChild.dataset.says;
      if (answer.headers.get("Dyno-Done")) return;
    } catch (err) {
      state.textContent = "No news: " + err.message + ". Is benchrun serve still running?";
    }
  }
})();
