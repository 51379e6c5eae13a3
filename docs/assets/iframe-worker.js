// A page that is opened from a folder may not start a worker, which the search needs. There, a
// hidden frame runs the worker's script.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.frame = new Promise((loaded) => {
        frame.onload = () => {
          const inner = frame.contentWindow;
          inner.postMessage = (data) => this.tell(this, data);
          const script = inner.document.createElement("script");
          script.src = url;
          script.onload = () => loaded(inner);
          inner.document.head.append(script);
        };
      });
      document.body.append(frame);
    }

    tell(target, data) {
      target.dispatchEvent(new MessageEvent("message", { data }));
    }

    postMessage(data) {
      this.frame.then((inner) => this.tell(inner, data));
    }

    terminate() {}
  };
}
