import type { RecordingProvider } from './recording-provider.js';
import type { TokenIssuer } from './signed-tokens.js';

/** What the attacks are aimed at. */
export interface Scene {
  readonly address: { readonly host: string; readonly port: number };
  /** The value of the `host` header. */
  readonly authority: string;
  /** `/modules/{module}/http`. */
  readonly base: string;
  /** Under `base`, without a query: a GET that the credential may make. */
  readonly route: string;
  /** `null` where none was given: cases that need one are skipped. */
  readonly token: string | null;
  /** `null` for a host that the selftest did not start. */
  readonly own: OwnScene | null;
}

/** What only a host of the selftest's own has. */
export interface OwnScene {
  readonly provider: RecordingProvider;
  /** Knows nothing but that it was called: no call may ever reach it. */
  readonly bystander: RecordingProvider;
  readonly tokens: Readonly<Record<OwnToken, string>>;
  /** An issuer of signed tokens that the host trusts. */
  readonly issuer: TokenIssuer;
  /** Texts that are secret: no answer may hold one. */
  readonly secrets: readonly string[];
  /** Of the module `desk`, for the console bridge. */
  readonly console: { readonly release: string; readonly ui: string };
}

/**
 * `owner` is a service with the scopes of the routes; `stranger` one without; `wildcard` one whose scopes
 * look like patterns; `user` a user without `console.admin`; `admin` one with it and nothing else;
 * `expired` was the owner's.
 */
export const OWN_TOKENS = ['owner', 'stranger', 'wildcard', 'user', 'admin', 'expired'] as const;

export type OwnToken = (typeof OWN_TOKENS)[number];

/** @throws when the scene is not the selftest's own: such a case must say `needs: 'own'`. */
export function requireOwn(scene: Scene): OwnScene {
  if (scene.own === null) throw new Error('the case needs a host of its own');
  return scene.own;
}
