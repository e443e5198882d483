import type { Manifest } from '../../core/contract/index.js';
import { describeTarget, describeTool, type KeptTool, MAX_DESCRIPTION } from './describe-tool.js';
import { SharedSchemas } from './tool-schema.js';
import type { ToolSource } from './tool-source.js';

/** The maximum length of the tools that are kept for a version of a module. Bytes of their JSON. */
const MAX_KEPT_BYTES = 16_777_216;

/** The tools of one version of a module: each is described when it is first needed. */
export class ModuleTools {
  readonly #shared: SharedSchemas;
  readonly #descriptions = new Map<string, string>();
  readonly #tools = new Map<string, KeptTool>();
  #keptBytes = 0;

  constructor(manifest: Manifest) {
    this.#shared = new SharedSchemas(manifest);
  }

  /** The description alone, which a search needs of every tool. */
  describeTarget(source: ToolSource): string {
    const { id } = source.operation;
    const description = this.#descriptions.get(id) ?? describeTarget(source, MAX_DESCRIPTION);
    this.#descriptions.set(id, description);
    return description;
  }

  describe(source: ToolSource): KeptTool {
    const { id } = source.operation;
    const kept = this.#tools.get(id);
    if (kept !== undefined) return kept;
    const described = describeTool(source, this.describeTarget(source), this.#shared);
    if (this.#keptBytes + described.bytes > MAX_KEPT_BYTES) return described;
    this.#keptBytes += described.bytes;
    this.#tools.set(id, described);
    return described;
  }
}
