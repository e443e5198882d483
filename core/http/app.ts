import Koa from 'koa';
import { createRequestChain, type RequestChainOptions } from './request-chain.js';
import type { HostState } from './request-context.js';
import { createHostRoutes, type HostRoutesOptions } from './routes/host-routes.js';

interface AppOptions extends HostRoutesOptions, RequestChainOptions {}

/** The Koa application: the chain of every request, then the host's own routes. */
export function createApp(options: AppOptions): Koa<HostState> {
  const app = new Koa<HostState>();
  app.on('error', (error: Error, { req }: Koa.Context) => {
    // Koa reports failed connections as well: those belong to the client.
    if (req.socket.errored === error) return;
    options.log.error({ err: error }, 'request handling failed');
  });
  app.use(createRequestChain(options));
  for (const middleware of createHostRoutes(options)) app.use(middleware);
  return app;
}
