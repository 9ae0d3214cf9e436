package plants

// planted is 1 in the new version and 0 in the old one.
const planted = 0
