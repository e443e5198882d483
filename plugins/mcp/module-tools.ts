import type { Manifest } from '../../core/contract/index.js';
import { describeTool, type KeptTool } from './describe-tool.js';
import { listSearchWords, type SearchWords } from './search-words.js';
import { SharedSchemas } from './tool-schema.js';
import type { ToolSource } from './tool-source.js';

/** The maximum length of the tools that are kept for a version of a module. Bytes of their JSON. */
const MAX_KEPT_BYTES = 16_777_216;

/** The tools of one version of a module: each is described when it is first needed. */
export class ModuleTools {
  readonly #shared: SharedSchemas;
  readonly #searchWords = new Map<string, SearchWords>();
  readonly #tools = new Map<string, KeptTool>();
  #keptBytes = 0;

  constructor(manifest: Manifest) {
    this.#shared = new SharedSchemas(manifest);
  }

  listSearchWords(source: ToolSource): SearchWords {
    const { id } = source.operation;
    const words = this.#searchWords.get(id) ?? listSearchWords(source);
    this.#searchWords.set(id, words);
    return words;
  }

  describe(source: ToolSource): KeptTool {
    const { id } = source.operation;
    const kept = this.#tools.get(id);
    if (kept !== undefined) return kept;
    const described = describeTool(source, this.#shared);
    if (this.#keptBytes + described.bytes > MAX_KEPT_BYTES) return described;
    this.#keptBytes += described.bytes;
    this.#tools.set(id, described);
    return described;
  }
}
