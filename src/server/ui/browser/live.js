// Shows the changes that the service sends: parts of the page by id, and texts inside them.
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
  // A link that was replaced keeps the focus of the keyboard.
  if (focused && document.activeElement === document.body) {
    document.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }
}

// A hidden tab needs no events, and a browser opens few connections to one service.
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
