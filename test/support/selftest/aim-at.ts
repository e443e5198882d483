import type { Scene } from '../../../core/selftest/scene.js';

/** The scene with other hosts on loopback. @param bounded by default also in place of the second host */
export function aimAt(scene: Scene, port: number, bounded = port): Scene {
  const host = '127.0.0.1';
  const ownHost = scene.own && { ...scene.own, bounded: { host, port: bounded } };
  return { ...scene, address: { host, port }, own: ownHost };
}
