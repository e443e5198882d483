import type { Outcome } from '../../../core/contract/index.js';
import { httpAdapter } from '../../../plugins/http/http-adapter.js';
import { createInvocation, openAdapter } from '../../plugins/open-adapter.js';
import { type RunningProvider, startAnsweringProvider } from '../provider.js';
import { useKept } from '../use.js';

/** Providers and adapters of kind `http` that end after each test. */
export function useExchange() {
  const keepValue = useKept();
  const keep = async <T extends RunningProvider>(starting: Promise<T>) => keepValue(await starting);

  const openOn = async (url: string, config: object = {}, secrets = {}) => {
    const settings = { endpoints: [url], ...config };
    return keepValue(await openAdapter(httpAdapter, settings, { secrets })).provider;
  };

  const callRaw = async (answer: string | Buffer, others = {}): Promise<Outcome> => {
    const { url } = await keep(startAnsweringProvider(answer, (socket) => socket.end()));
    return (await openOn(url)).invoke(createInvocation({}, others));
  };

  return { keep, openOn, callRaw };
}
