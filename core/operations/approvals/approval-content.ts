import type { DangerLevel } from '../../contract/index.js';
import { escapeInvisible, hasInvisible } from '../../lib/visible-json.js';
import type { StoredApproval } from '../../store/approvals.js';

/** The complete call as it will be sent, for the person who decides. */
export interface ApprovalContent {
  /** `GET /contacts/{id}` of a route; the name of an entity or an action. */
  readonly name: string;
  readonly operation_kind: string;
  readonly danger_level: DangerLevel;
  /** The JSON text of the caller. */
  readonly arguments: string;
  /** The names of the caller's headers that the provider receives. */
  readonly headers: readonly string[];
  readonly config_digest: string;
  readonly request_id: string;
}

/** Describes a request in lists. */
export function describeApproval(approval: StoredApproval) {
  const { id, kind, status, module, operation, actor } = approval;
  const { name, operation_kind, danger_level } = readContent(approval);
  return {
    ...{ id, kind, status, module, operation, name, operation_kind, danger_level, actor },
    requested_at: approval.requestedAt,
    expires_at: approval.expiresAt,
    decided_at: approval.decidedAt,
    decided_by: approval.decidedBy,
  };
}

/** Describes a request with all parts that the decision covers. */
export function describeApprovalDetails(approval: StoredApproval, previous: StoredApproval | null) {
  const content = readContent(approval);
  return {
    ...describeApproval(approval),
    ...describeArguments(content),
    headers: content.headers,
    config_digest: content.config_digest,
    request_id: content.request_id,
    previous: previous && {
      id: previous.id,
      actor: previous.actor,
      decided_at: previous.decidedAt,
      decided_by: previous.decidedBy,
      ...describeArguments(readContent(previous)),
    },
  };
}

/** Escapes invisible characters in the JSON. */
function describeArguments({ arguments: json }: ApprovalContent) {
  return { arguments: escapeInvisible(json), has_invisible: hasInvisible(json) };
}

function readContent({ content }: StoredApproval): ApprovalContent {
  return JSON.parse(content) as ApprovalContent;
}
