import type { Outcome } from '../../../core/contract/index.js';
import { httpAdapter } from '../../../plugins/http/http-adapter.js';
import { createInvocation, type OpenedProvider, openAdapter } from '../../plugins/open-adapter.js';
import { type RunningProvider, startAnsweringProvider } from '../provider.js';

/** Providers and adapters of kind `http` that end after each test. */
export function useExchange() {
  const running: (RunningProvider | OpenedProvider)[] = [];

  afterEach(async () => {
    for (const resource of running.splice(0).reverse()) {
      await ('stop' in resource ? resource.stop() : resource.close());
    }
  });

  const keep = async <T extends RunningProvider>(starting: Promise<T>): Promise<T> => {
    const provider = await starting;
    running.push(provider);
    return provider;
  };

  const openOn = async (url: string, config: object = {}, secrets = {}) => {
    const opened = await openAdapter(httpAdapter, { endpoints: [url], ...config }, { secrets });
    running.push(opened);
    return opened.provider;
  };

  const callRaw = async (answer: string | Buffer, others = {}): Promise<Outcome> => {
    const { url } = await keep(startAnsweringProvider(answer, (socket) => socket.end()));
    return (await openOn(url)).invoke(createInvocation({}, others));
  };

  return { keep, openOn, callRaw };
}
