import { listEnabledSurfaces } from '../config/surface-list.js';
import { createTokenLookupMetric } from '../observability/metrics/process-metrics.js';
import { DocumentCache } from '../openapi/document-cache.js';
import { APPROVALS_PAGE } from '../operations/approvals/approvals.js';
import { MAY_APPROVE_OWN } from '../operations/approvals/decide-approval.js';
import { registerBridgeOperations } from '../operations/console/register-bridge-operations.js';
import { TokenOwners } from '../operations/explain/token-owners.js';
import { LOG } from '../operations/injection-tokens.js';
import { ACCESS } from './access.js';
import { MODULES } from './modules.js';
import { CONFIG, definePart, provide } from './part.js';

const CONSOLE = 'console';

/** What handlers of requests inject besides the other parts. */
export const HANDLERS = definePart(
  'handlers',
  [CONFIG, LOG, ACCESS.token, MODULES.token],
  ({ publicUrl, approvals, surfaces }, log, { authentication }, { registry }) => {
    const { chain, challenges, credentialHeaders, actorRate, authFailures } = authentication;
    const limitsCallers = actorRate !== null || authFailures !== null;
    const described = { publicUrl, challenges, credentialHeaders, limitsCallers };
    const owners = new TokenOwners(chain, log);
    const isConsoleOn = listEnabledSurfaces(surfaces, [CONSOLE]).some(
      ({ name }) => name === CONSOLE,
    );
    const page = publicUrl !== null && isConsoleOn ? `${publicUrl}/console/approvals` : null;
    return {
      provides: [
        provide(APPROVALS_PAGE, page),
        provide(MAY_APPROVE_OWN, approvals?.self === true),
        provide(DocumentCache, new DocumentCache(registry, described)),
        provide(TokenOwners, owners),
        registerBridgeOperations,
      ],
      metrics: [createTokenLookupMetric(owners)],
    };
  },
);
