/** Something of the host that a config names, other than by a reference. */
export interface HostUse {
  /** A socket that the provider connects to, a file or folder, or a command that it runs. */
  readonly kind: 'socket' | 'file' | 'command';
  /**
   * As the config has it: an absolute path, or one that is relative to the folder of the descriptor. A command
   * without a slash is looked up in `PATH`.
   */
  readonly name: string;
}

/** The names of the members that lead to a place in a config: `['auth', 'signer']`. */
export type ConfigPath = readonly string[];

/** A signer that a config names. */
export interface NamedSigner {
  /** The member with the name; diagnostics point to it. */
  readonly path: ConfigPath;
  /** The `name` of a {@link SignerFactory}. */
  readonly name: string;
  /** The member with the signer's own config, even if it is absent; diagnostics point into it. */
  readonly configPath: ConfigPath;
  /** The signer's own config, which the host validates; `{}` if the member is absent. */
  readonly config: unknown;
}

/** An exchange of tokens: the provider's credentials are derived from the token of each caller. */
export interface TokenExchange {
  /** The member that requests it; diagnostics point to it. */
  readonly path: ConfigPath;
  /** The issuer in the issuers file whose tokens are exchanged. */
  readonly issuer: string;
  /**
   * The token endpoint that the config names, an absolute URL. `modgate serve --check` compares it with the issuers
   * file. Default: the endpoint that the issuer's discovery names.
   */
  readonly tokenUrl?: string;
  /** Absent if the host's own requests have a token as well. Used for warnings. */
  readonly withoutCaller?: {
    /** Members of the config that cause requests of the host, beside manifest and configuration: `['health']`. */
    readonly settings: readonly string[];
    /** How to give these requests a token: `set 'host: {}' for a token of the host`. */
    readonly hint: string;
  };
}

/** What a config means for the host, which knows no member of it. An absent member means: none. */
export interface ConfigDescription {
  /**
   * What the config names of the host besides its references; code of the descriptor's folder that runs on the host is
   * a command too. Releases may use what is outside of their folder only where `--release-references` allows it, and a
   * command needs the right to publish code.
   */
  readonly hostUses: readonly HostUse[];
  /**
   * The exchange of callers' tokens. {@link OpenContext.callerTokens} are then those of its issuer. The host keeps
   * responses for each token alone, and shares none between callers.
   */
  readonly exchange?: TokenExchange;
  /** The signer that {@link OpenContext.openSigner} opens. */
  readonly signer?: NamedSigner;
  /**
   * Names of the headers that carry the credentials for the provider, in lower case. Only for people: `modgate explain`
   * shows them without values.
   */
  readonly credentialHeaders?: readonly string[];
  /**
   * Where calls go: an origin for each entry of the member `endpoints` of the config, in its order. `candidate.endpoints`
   * of a descriptor replaces that member; if all origins are https, so must be those of the candidate. Absent for
   * entries in a document, which the host puts in the place of the member to have them described. Default: unknown, so
   * that no descriptor of the kind can have a candidate.
   */
  readonly origins?: readonly string[];
  /**
   * The path that precedes each target at the provider, without a final slash: `/api`. That of the first endpoint if
   * they differ. Only for people. Default: empty.
   */
  readonly basePath?: string;
}
