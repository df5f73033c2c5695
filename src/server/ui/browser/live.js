// Shows the changes that the service sends: new HTML for parts of the page, and new texts inside them, by id.
const lost = document.getElementById("lost");
let source;

function show({ html, text }) {
  const focused = document.activeElement?.getAttribute("href");
  for (const [id, content] of Object.entries(html)) {
    const part = document.getElementById(id);
    if (part) part.innerHTML = content;
  }
  for (const [id, content] of Object.entries(text)) {
    const place = document.getElementById(id);
    if (place) place.textContent = content;
  }
  // If a focused link was replaced, the new one gets the focus.
  if (focused && document.activeElement === document.body) {
    document.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }
}

// Close the connection of a hidden tab, because a browser opens only a few to one service.
function follow() {
  source?.close();
  if (document.hidden) return;
  source = new EventSource(document.body.dataset.events);
  source.onopen = () => {
    lost.hidden = true;
  };
  source.onerror = () => {
    lost.hidden = false;
  };
  source.onmessage = ({ data }) => show(JSON.parse(data));
}

document.addEventListener("visibilitychange", follow);
follow();
