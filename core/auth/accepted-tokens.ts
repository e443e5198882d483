import { type Actor, type CallerToken, type CallerTokens, Secret } from '../contract/index.js';
import { findAcceptedBy } from './accepted-by.js';

interface AcceptedToken extends CallerToken {
  readonly issuer: string;
}

/** The token endpoints of the issuers file. */
export interface ExchangeIssuers {
  /**
   * Returns `null` for the endpoints that discovery names, and `undefined` for an unknown issuer.
   */
  tokenEndpoints(issuer: string): readonly string[] | null | undefined;
  /** Called after each change of the file. */
  onChange: () => void;
}

/**
 * Bearer tokens that entries of the issuers file have accepted, by actor. The map is weak: a token
 * is removed with its actor. No token is kept before a module exchanges tokens.
 */
export class AcceptedTokens {
  /** The issuers of the issuers file; `null` without one. */
  issuers: ExchangeIssuers | null = null;
  readonly #tokens = new WeakMap<Actor, AcceptedToken>();
  /** Whether a module exchanges tokens; otherwise no token is kept. */
  isWanted = false;
  #isAsked = false;

  /**
   * @param resolved the actor as the authenticator created it
   * @param actor the same actor with the scopes of its roles; a token has one such actor
   */
  keep(resolved: Actor, actor: Actor, token: string): void {
    if (this.#tokens.has(actor)) return;
    const acceptedBy = findAcceptedBy(resolved);
    if (acceptedBy !== undefined)
      this.#tokens.set(actor, { ...acceptedBy, value: new Secret(token) });
  }

  /** Calls the listener when the issuers file has changed, if a module has asked for an issuer. */
  onIssuersChange(listener: () => void): void {
    if (this.issuers === null) return;
    this.issuers.onChange = () => {
      if (this.#isAsked) listener();
    };
  }

  /**
   * The tokens of one issuer.
   * @throws Error for an issuer that the issuers file does not have.
   */
  open(issuer: string): CallerTokens {
    const endpoints = () => {
      const issuerEndpoints = this.issuers?.tokenEndpoints(issuer);
      if (issuerEndpoints !== undefined) return issuerEndpoints;
      throw new Error(
        this.issuers === null
          ? 'the exchange of tokens requires an issuers file: name one with --issuers FILE (or MODGATE_ISSUERS)'
          : 'its issuer is not in the issuers file: name the issuer of one of its entries',
      );
    };
    this.#isAsked = true;
    endpoints();
    this.isWanted = true;
    return {
      endpoints,
      find: ({ actor }) => {
        const token = actor === null ? undefined : this.#tokens.get(actor);
        return token?.issuer === issuer ? token : null;
      },
    };
  }
}
