import { injectable } from 'tsyringe';
import type { GenerationSource } from '../../host/generation-source.js';
import { GENERATIONS, inject } from '../../injection.js';
import { decide } from '../authorisation.js';
import { hideSensitiveDefaults } from '../hide-sensitive-defaults.js';
import { Answer, type Operation } from '../operation.js';
import type { CallerRequest } from '../request.js';

/** `GET /manifests`: the manifest of every live module, by name; `digest` is that of the whole one. */
@injectable()
export class ListManifests implements Operation<null> {
  readonly #generations: GenerationSource;

  constructor(@inject(GENERATIONS) generations: GenerationSource) {
    this.#generations = generations;
  }

  async execute(_input: null, request: CallerRequest): Promise<Answer> {
    const decision = decide(request.actor, { kind: 'scope', scope: 'modgate.modules.read' });
    const modules = [...this.#generations.current.values()].sort((a, b) =>
      a.name < b.name ? -1 : 1,
    );
    const manifests = modules.map(({ name, manifestDigest, manifest }) => {
      return { name, digest: manifestDigest, manifest: hideSensitiveDefaults(manifest) };
    });
    return Answer.ofText(decision, JSON.stringify({ manifests }));
  }
}
