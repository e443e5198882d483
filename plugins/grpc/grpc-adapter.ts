import { defineAdapter, type ModuleProblem } from '../../core/contract/index.js';
import { findMoreThanRoutes, findProtocolHeaders, findRawMode } from '../shared/transport.js';
import { findUnbound } from './check-bind.js';
import { grpcConfig, grpcOperation, grpcTransport } from './config.js';

/** Kind `grpc`: unary and server-streaming methods of gRPC services. */
export const grpcAdapter = defineAdapter({
  kind: 'grpc',
  config: grpcConfig,
  supports: { streams: true },
  operation: grpcOperation,
  describeConfig: (config) => grpcTransport.describe(config),
  checkDescriptor: (descriptor) => [
    ...findRawMode(descriptor, 'grpc'),
    ...findProtocolHeaders(descriptor, 'grpc', /^(?:grpc-.*|te|user-agent)$/i),
  ],
  checkManifest: (manifest, routes) => [
    ...findMoreThanRoutes(manifest, 'grpc'),
    ...findUnbound(routes),
    ...routes.flatMap(({ declared }, index): ModuleProblem[] => {
      if (declared.operation?.stream !== 'sse') return [];
      const path = ['http_routes', index, 'operation', 'stream'];
      return [{ path, message: 'must be ndjson: each message is a line', hint: 'write ndjson' }];
    }),
  ],
  checkRoutes: async ({ descriptors: { file } }, routes, context) => {
    if (file === undefined) return [];
    const { findUnusable } = await import('./route-methods.js');
    return findUnusable(context.file(file), routes);
  },
  tryCredentials: (config, context) => grpcTransport.tryCredentials(config, context),
  open: async (config, context) => {
    // The libraries are loaded with the first module.
    const { openGrpcProvider } = await import('./provider.js');
    return openGrpcProvider(config, context);
  },
});
