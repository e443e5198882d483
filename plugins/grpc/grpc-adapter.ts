import { defineAdapter } from '../../core/contract/index.js';
import { tryCredentials } from '../http/credentials.js';
import { describeCommon } from '../http/describe-config.js';
import { grpcConfig, grpcOperation, readEndpoint } from './config.js';

/** Kind `grpc`: unary and server-streaming methods of gRPC services. */
export const grpcAdapter = defineAdapter({
  kind: 'grpc',
  config: grpcConfig,
  supports: { streams: true },
  operation: grpcOperation,
  describeConfig: ({ auth, endpoints }) => ({
    ...describeCommon({ auth }),
    origins: endpoints.map((entry) => readEndpoint(entry).url.replace(/^grpc/, 'http')),
  }),
  tryCredentials: ({ auth }, context) => tryCredentials(auth, context),
  open: async (config, context) => {
    // The libraries are loaded with the first module.
    const { openGrpcProvider } = await import('./provider.js');
    return openGrpcProvider(config, context);
  },
});
