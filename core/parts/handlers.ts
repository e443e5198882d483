import { createTokenLookupMetric } from '../observability/metrics/process-metrics.js';
import { DocumentCache } from '../openapi/document-cache.js';
import { MAY_APPROVE_OWN } from '../operations/approvals/decide-approval.js';
import { registerBridgeOperations } from '../operations/console/register-bridge-operations.js';
import { TokenOwners } from '../operations/explain/token-owners.js';
import { LOG } from '../operations/injection-tokens.js';
import { ACCESS } from './access.js';
import { MODULES } from './modules.js';
import { CONFIG, definePart, provide } from './part.js';

/** What handlers of requests inject besides the other parts. */
export const HANDLERS = definePart(
  'handlers',
  [CONFIG, LOG, ACCESS.token, MODULES.token],
  ({ publicUrl, approvals }, log, { authentication }, { registry }) => {
    const { chain, challenges, credentialHeaders, actorRate } = authentication;
    const limitsActors = actorRate !== null;
    const described = { publicUrl, challenges, credentialHeaders, limitsActors };
    const owners = new TokenOwners(chain, log);
    return {
      provides: [
        provide(MAY_APPROVE_OWN, approvals?.self === true),
        provide(DocumentCache, new DocumentCache(registry, described)),
        provide(TokenOwners, owners),
        registerBridgeOperations,
      ],
      metrics: [createTokenLookupMetric(owners)],
    };
  },
);
