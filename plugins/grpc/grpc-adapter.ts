import { defineAdapter } from '../../core/contract/index.js';
import { grpcConfig, grpcOperation, grpcTransport } from './config.js';

/** Kind `grpc`: unary and server-streaming methods of gRPC services. */
export const grpcAdapter = defineAdapter({
  kind: 'grpc',
  config: grpcConfig,
  supports: { streams: true },
  operation: grpcOperation,
  describeConfig: (config) => grpcTransport.describe(config),
  tryCredentials: (config, context) => grpcTransport.tryCredentials(config, context),
  open: async (config, context) => {
    // The libraries are loaded with the first module.
    const { openGrpcProvider } = await import('./provider.js');
    return openGrpcProvider(config, context);
  },
});
