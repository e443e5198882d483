import { createAuthenticators } from '../auth/authenticators.js';
import { listChallenges, listCredentialHeaders } from '../auth/credential-headers.js';
import { Roles } from '../auth/roles.js';
import { SHARED_ATTEMPTS } from '../auth/shared-attempts.js';
import type { Authentication } from '../http/authenticate-request.js';
import { openTls } from '../http/tls/open-tls.js';
import { redactNames } from '../log/redact.js';
import { AUTHENTICATORS, CREDENTIAL_HEADERS, LOG } from '../operations/injection-tokens.js';
import { ActorRate } from '../operations/rate-limit.js';
import { SHARED_RATES } from '../provider/shared-rates.js';
import { CONFIG, definePart, PROCESSES, provide } from './part.js';
import { PLUGINS_PART } from './plugins.js';

/** Authentication, the rate limits of actors, and the listener's TLS. */
export const ACCESS = definePart(
  'access',
  [CONFIG, LOG, PROCESSES, PLUGINS_PART.token],
  async (config, log, processes, { plugins }) => {
    const access = await createAuthenticators(config, log, plugins);
    const { chain, issuers, hasDevTokens, roles, tokens, close } = access;
    const tls = await openTls(config, roles, log);
    const rates = processes.connect(SHARED_RATES);
    const actorRate = ActorRate.create(config.actorRate, config.actorBurst, rates);
    const credentialHeaders = listCredentialHeaders(chain);
    redactNames(credentialHeaders);
    const { tokenHeader, tokenBasic, publicUrl, cors } = config;
    const authentication: Authentication = {
      chain,
      roles,
      credentialHeaders,
      challenges: listChallenges(chain, tokenBasic),
      tokenHeader,
      takesBasic: tokenBasic,
      pages: { publicUrl, origins: new Set(cors?.credentials ? cors.origins : []) },
      certificates: tls.certificates,
      actorRate,
      authFailures: processes.connect(SHARED_ATTEMPTS),
    };
    return {
      authentication,
      rates,
      issuers,
      hasDevTokens,
      tokens,
      tlsPair: tls.pair,
      provides: [
        provide(AUTHENTICATORS, chain),
        provide(CREDENTIAL_HEADERS, credentialHeaders),
        provide(Roles, roles),
      ],
      close: async () => {
        await tls.close();
        await close();
      },
    };
  },
);
