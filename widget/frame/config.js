// The configuration that the gateway has written into this frame's document.

const { owner: ownOwner, ...configWithoutOwner } = JSON.parse(document.getElementById("tillgate-config").textContent);
export const config = configWithoutOwner;
// A hash of checkout and entity of this document: empty for a page that creates its checkout later, and undefined for
// a checkout that does not exist. The page never learns it, and neither an address nor a message changes it.
export const owner = ownOwner;
