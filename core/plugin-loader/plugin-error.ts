/** How far a plugin got before it could not be used. */
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

/** Why a plugin, and no other, cannot be used. The message names plugin, trouble and hint. */
export class PluginError extends Error {
  override readonly name = 'PluginError';
  /** As its `plugin.json` says, else the name of its folder. */
  readonly plugin: string;
  readonly stage: PluginStage;
  /** What reads on after the plugin's name. */
  readonly trouble: string;
  /** The message without the hint. */
  readonly reason: string;
  readonly hint: string | null;

  /** `trouble` reads on after `plugin '<name>' `. */
  constructor(
    plugin: string,
    stage: PluginStage,
    trouble: string,
    hint: string | null,
    options?: ErrorOptions,
  ) {
    const reason = `plugin '${plugin}' ${trouble}`;
    super(hint === null ? reason : `${reason} (${hint})`, options);
    this.trouble = trouble;
    this.reason = reason;
    this.plugin = plugin;
    this.stage = stage;
    this.hint = hint;
  }
}
