/** What a provider says about itself to operators. */
export interface ProviderFact {
  /** Unique among the facts: `methods`, `tool add`. At most 100 characters. */
  readonly name: string;
  /** In one line: `12`, `changed since it was imported`. At most 200 characters. */
  readonly value: string;
  /** Whether an operator has to do something about it. Default false. */
  readonly problem?: boolean;
}
