import type { Log } from '../contract/index.js';
import { isolate } from '../isolation/isolate.js';
import { type BackoffBounds, backoffMs } from '../lib/backoff.js';
import { type LoadedManifest, ManifestUnavailable } from '../manifest/load-manifest.js';
import type { ModuleVersion } from './module-version.js';

const MANIFEST_BACKOFF: BackoffBounds = { firstMs: 200, maxMs: 10_000 };

interface PendingManifestOptions {
  readonly log: Log;
  readonly onLoaded: (version: ModuleVersion, manifest: LoadedManifest) => void;
  /** The manifest may be available later; another attempt is scheduled. */
  readonly onUnavailable: (version: ModuleVersion, error: ManifestUnavailable) => Promise<void>;
  /** The manifest is unusable; there is no other attempt. */
  readonly onInvalid: (version: ModuleVersion, error: unknown) => Promise<void>;
}

/** The version that serves once its manifest has arrived from a URL or the provider. */
export class PendingManifest {
  readonly #options: PendingManifestOptions;
  #version: ModuleVersion | null = null;
  #attempts = 0;
  #firstAttempt: Promise<void> = Promise.resolve();

  constructor(options: PendingManifestOptions) {
    this.#options = options;
  }

  /** `null` when no manifest is pending. */
  get version(): ModuleVersion | null {
    return this.#version;
  }

  get attempts(): number {
    return this.#attempts;
  }

  /** Resolves when the manifest has been requested once. */
  get firstAttempt(): Promise<void> {
    return this.#firstAttempt;
  }

  request(version: ModuleVersion): void {
    this.#version = version;
    this.#attempts = 0;
    this.#firstAttempt = this.#attempt(version);
  }

  /** Ends the attempts; the version stays open. */
  drop(): void {
    this.#version = null;
  }

  /** Never rejects. */
  #attempt(version: ModuleVersion): Promise<void> {
    return isolate(this.#options.log, version.prepared.file, () => this.#load(version));
  }

  async #load(version: ModuleVersion): Promise<void> {
    if (this.#version !== version) return;
    this.#attempts += 1;
    let manifest: LoadedManifest;
    try {
      manifest = await version.requestManifest();
    } catch (error) {
      if (this.#version === version) await this.#fail(version, error);
      return;
    }
    if (this.#version !== version) return;
    this.#version = null;
    this.#options.onLoaded(version, manifest);
  }

  async #fail(version: ModuleVersion, error: unknown): Promise<void> {
    if (error instanceof ManifestUnavailable) {
      this.#retryLater(version);
      await this.#options.onUnavailable(version, error);
    } else {
      await this.#options.onInvalid(version, error);
    }
  }

  #retryLater(version: ModuleVersion): void {
    const retry = () => void this.#attempt(version);
    const timer = setTimeout(retry, backoffMs(this.#attempts, MANIFEST_BACKOFF));
    version.scope.defer(() => clearTimeout(timer));
  }
}
