// A page that is opened from the disk may not start a worker, which the search needs. There, run
// the worker's script in a hidden frame instead. Like a worker, it gets copies: it empties the lists
// of a query while it searches, and the page still shows them.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(address) {
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.append(this.frame)
      const inside = this.frame.contentWindow
      inside.document.open()
      inside.document.write("<!doctype html><body>")
      inside.document.close()
      inside.postMessage = data => setTimeout(() => this.onmessage?.({ data }))
      this.ready = new Promise((done, fail) => {
        const script = inside.document.createElement("script")
        script.src = address
        script.onload = done
        script.onerror = fail
        inside.document.body.append(script)
      })
      this.ready.catch(() => this.onerror?.(new Event("error")))
    }

    postMessage(message) {
      const data = structuredClone(message)
      const send = () => {
        this.frame.contentWindow?.dispatchEvent(new MessageEvent("message", { data }))
      }
      this.ready.then(send, () => {})
    }

    terminate() {
      this.frame.remove()
    }
  }
}
