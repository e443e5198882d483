import { defineAdapter } from '../../core/contract/index.js';
import { grpcConfig, grpcOperation } from './config.js';

/** Kind `grpc`: unary and server-streaming methods of gRPC services. */
export const grpcAdapter = defineAdapter({
  kind: 'grpc',
  config: grpcConfig,
  supports: { streams: true },
  operation: grpcOperation,
  describeConfig: ({ endpoints }) => ({
    hostUses: [],
    origins: endpoints.map((url) => url.replace(/^grpc/, 'http')),
  }),
  open: async (config, context) => {
    // The libraries are loaded with the first module.
    const { openGrpcProvider } = await import('./provider.js');
    return openGrpcProvider(config, context);
  },
});
