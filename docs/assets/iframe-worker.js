// Pages that lie on a disk (file://) may start no Worker, so that their search would stay away. Here its script runs in
// a hidden frame, which speaks like a Worker. Material's plugin "offline" takes this file for the one that it would fetch.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      const tell = (to, data) => to.dispatchEvent(new MessageEvent("message", { data }));
      this.inside = new Promise((resolve) => {
        frame.addEventListener("load", () => {
          const inner = frame.contentWindow;
          inner.postMessage = (data) => tell(this, data);
          const script = inner.document.createElement("script");
          script.addEventListener("load", () => resolve((data) => tell(inner, data)));
          script.src = new URL(address, location.href).href;
          inner.document.head.append(script);
        }, { once: true });
      });
      document.body.append(frame);
    }

    postMessage(data) {
      this.inside.then((send) => send(data));
    }
  };
}
