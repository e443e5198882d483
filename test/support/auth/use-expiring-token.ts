import { writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { answerJson, startProvider } from '../provider.js';
import { type RunningHost, startHost } from '../start-host.js';
import { type StreamingProvider, startStreamingProvider } from '../streaming-provider.js';
import { createFolder } from '../temporary-folder.js';
import { use } from '../use.js';

const LIFETIME_MS = 3000;

export interface ExpiringToken {
  readonly host: RunningHost;
  readonly provider: StreamingProvider;
  readonly token: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/**
 * A host in front of a streaming provider, and a token with the scope `chat.use`. The token expires 3 s after the
 * host first asks its issuer about it, so that it is valid at its first use.
 */
export function useExpiringToken(
  describe: (url: string) => Readonly<Record<string, object>>,
  answer: RequestListener,
): ExpiringToken {
  const folder = createFolder();
  let expiresAt = 0;
  const issuer = use(() =>
    startProvider((request, response) => {
      expiresAt ||= Date.now() + LIFETIME_MS;
      const claims = { active: true, sub: 'ann', scope: 'chat.use', exp: expiresAt / 1000 };
      answerJson(claims)(request, response);
    }),
  );
  const provider = use(() => startStreamingProvider(answer));
  const host = use(() => {
    const introspection = {
      name: 'opaque',
      url: issuer.url,
      client_id: 'gateway',
      client_secret: 'file:./secret',
      actor: { kind: 'service' },
    };
    const issuers = join(folder, 'issuers.json');
    writeFileSync(issuers, JSON.stringify({ introspection: [introspection] }));
    writeFileSync(join(folder, 'secret'), 'a-secret', { mode: 0o600 });
    return startHost({ files: describe(provider.url), args: ['--issuers', issuers] });
  });

  return {
    host,
    provider,
    token: 'opaque-token-of-ann-0123456789',
    get expiresAt() {
      return expiresAt;
    },
  };
}
