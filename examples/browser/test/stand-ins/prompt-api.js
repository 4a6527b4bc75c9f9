// Stands in for the browser's LanguageModel.
{
  const { standIn } = globalThis;
  globalThis.LanguageModel = {
    availability: async () => (standIn.stored ? 'available' : 'downloadable'),
    async create({ monitor, signal, initialPrompts = [] }) {
      if (monitor !== undefined) {
        const target = new EventTarget();
        monitor(target);
        const report = (loaded) =>
          target.dispatchEvent(new ProgressEvent('downloadprogress', { loaded, total: 1 }));
        await standIn.download(report, signal);
        standIn.stored = true;
      }
      return {
        contextUsage: 42,
        async *promptStreaming(input, { signal: stop }) {
          for await (const piece of standIn.answer([...initialPrompts, ...input])) {
            stop.throwIfAborted();
            yield piece;
          }
        },
        destroy: () => undefined,
      };
    },
  };
}
