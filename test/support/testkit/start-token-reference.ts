import {
  REFERENCE_SECRET,
  type ReferenceModule,
  type RunningReference,
  startHttpReference,
} from '../../../core/testkit/index.js';
import { answerError, exchangedToken, startExchangeServer } from '../exchange-server.js';

/** Serves the reference over HTTP, called with tokens of an authorization server. */
export async function startTokenReference(reference: ReferenceModule): Promise<RunningReference> {
  const { config, stop, ...running } = await startHttpReference(reference);
  const server = await startExchangeServer();
  const client = { client_id: 'me', client_secret: REFERENCE_SECRET.reference };
  const oauth2 = { token_url: server.tokenUrl, ...client };
  return {
    ...running,
    config: { ...(config as object), auth: { oauth2 } },
    credentials: {
      issued: () => server.requests.map((_request, index) => exchangedToken('', index + 1)),
      withhold: () => {
        server.answer(answerError(400, 'invalid_client'));
        return () => server.answer(null);
      },
    },
    stop: async () => {
      await stop();
      await server.close();
    },
  };
}
