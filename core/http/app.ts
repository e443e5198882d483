import Koa from 'koa';
import { createRequestChain, type RequestChainOptions } from './request-chain.js';
import type { HostContext, HostState } from './request-context.js';
import { createHostRoutes, type HostRoutesOptions } from './routes/host-routes.js';

interface AppOptions extends HostRoutesOptions, RequestChainOptions {}

/**
 * Bypasses two public mechanisms of Koa on the hot path: its listener for the end of each response
 * (`on-finished`), which takes a tenth of the CPU time of a small request, and its own way to
 * respond. The request chain observes and writes its responses itself. `handleRequest` is private
 * to Koa; a test fails when Koa stops calling it.
 */
class HostApp extends Koa<HostState> {
  handleRequest(ctx: HostContext, run: (ctx: HostContext) => Promise<void>): Promise<void> {
    ctx.respond = false;
    return run(ctx).catch((error: Error) => ctx.onerror(error));
  }
}

/** Creates the Koa application: the chain of every request, then the host's own routes. */
export function createApp(options: AppOptions): Koa<HostState> {
  const app = new HostApp();
  app.on('error', (error: Error) => {
    options.log.error({ err: error }, 'request handling failed');
  });
  for (const middleware of [...createRequestChain(options), ...createHostRoutes(options)]) {
    app.use(middleware);
  }
  return app;
}
