/** The step at which a plugin was rejected. */
export type PluginStage =
  | 'find'
  | 'manifest'
  | 'contract'
  | 'entry'
  | 'clash'
  | 'integrity'
  | 'import'
  | 'export'
  | 'kinds';

/** A plugin cannot be used. The message names plugin, problem and hint. */
export class PluginError extends Error {
  override readonly name = 'PluginError';
  /** The name in its `plugin.json`, or else of its folder. */
  readonly plugin: string;
  readonly stage: PluginStage;
  /** Completes a sentence that starts with `plugin '<name>' `. */
  readonly problem: string;
  /** The message without the hint. */
  readonly reason: string;
  readonly hint: string | null;

  constructor(
    plugin: string,
    stage: PluginStage,
    problem: string,
    hint: string | null,
    options?: ErrorOptions,
  ) {
    const reason = `plugin '${plugin}' ${problem}`;
    super(hint === null ? reason : `${reason} (${hint})`, options);
    this.problem = problem;
    this.reason = reason;
    this.plugin = plugin;
    this.stage = stage;
    this.hint = hint;
  }
}
