import { HostError, PROBLEMS, type ProblemCode } from '../../errors.js';
import { createToken } from '../../injection.js';
import { Reply } from '../../operations/reply.js';
import { defineResource, type ResourceCall } from '../../operations/resource.js';
import { findOwnOrigin } from '../request/own-origin.js';
import type { RequestContext } from '../request-context.js';
import { describeResource, type ResourceOptions } from '../surfaces/protected-resource.js';
import { createUnknownPath } from './unknown-path.js';

/** What any client may know about the host. */
export interface PublicFacts extends ResourceOptions {
  /** The origin of the public URL; `null` without one. */
  readonly publicOrigin: string | null;
  /** The keys with which providers verify `modgate-identity`. */
  readonly identityKeys: () => object;
  /** Returns `null` when ready, otherwise the reason. */
  readonly unreadyReason: () => string | null;
}

export const PUBLIC_FACTS = createToken<PublicFacts>('public-facts');

const HTML_TYPE = 'text/html; charset=utf-8';

export const LIVENESS = defineResource({
  text: '`{"status":"ok"}` while the process runs',
  needs: [],
  answer: () => ({ status: 'ok' }),
});

export const READINESS = defineResource({
  text: '`{"status":"ready"}`, or 503 while the host starts, drains or has no release',
  needs: [PUBLIC_FACTS],
  answer: (_call, { unreadyReason }) => {
    const reason = unreadyReason();
    if (reason !== null) throw new HostError('unavailable', reason);
    return { status: 'ready' };
  },
});

export const IDENTITY_KEYS = defineResource({
  text: 'the public keys of [`modgate-identity`](../operate/identity.md)',
  needs: [PUBLIC_FACTS],
  answer: (_call, { identityKeys }) => identityKeys(),
});

export const SURFACE_METADATA = defineMetadata(
  'while a surface such as `mcp` is on, the metadata of RFC 9728: `{resource, authorization_servers, bearer_methods_supported}`',
);

export const PATH_METADATA = defineMetadata('the same for this path, such as `/mcp/crm`');

function defineMetadata(text: string) {
  return defineResource({
    text,
    needs: [PUBLIC_FACTS],
    answer: ({ request }: ResourceCall<object, RequestContext>, facts) => {
      const { req, target } = request;
      const metadata = describeResource(target, findOwnOrigin(req, facts.publicOrigin), facts);
      if (metadata === null) throw createUnknownPath();
      return metadata;
    },
  });
}

export const PROBLEM_PAGE = defineResource({
  text: 'a page that explains a [code](problems.md)',
  needs: [],
  answer: ({ params: { code = '' }, authorization }) => {
    if (!isProblemCode(code)) throw createUnknownPath();
    return Reply.ok(authorization, [Buffer.from(renderProblemPage(code))], HTML_TYPE);
  },
});

function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(PROBLEMS, code);
}

/** The page behind a Problem's `type`. It contains constant text only. */
function renderProblemPage(code: ProblemCode): string {
  const { status, title, meaning, whatToDo } = PROBLEMS[code];
  const statusText = code === 'provider_error' ? "the provider's" : String(status);
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${title}</title></head>
<body>
<h1>${title}</h1>
<p><code>${code}</code>, status ${statusText}</p>
<p>${meaning}</p>
<p>${whatToDo}</p>
</body>
</html>
`;
}
