import { type ControlPlaneOptions, startControlPlane, type TestSystem } from '@spout/testkit'

/**
 * The version to upgrade from, and to go back to. At a release the pin moves to the commit of the previous release:
 * upgrades are promised from one release to the next, and one step back. Between releases it stays, so that the test
 * sees all changes since then. A change that fails this test needs an intermediate step (docs/operations.md, Upgrades).
 * There is no release yet. This is such a step: versions before 7a88bc18 load a table of theirs in two transactions, so they
 * refuse connections for a moment when they find one of another version.
 */
export const PREVIOUS = '43501fc13372cfb91bf82a188fb9af8d3ab15258'

/** Ends the control plane as systemd does, and starts another one at the same address. */
export async function replaceControlPlane(
  { lab, access }: TestSystem,
  how: Pick<ControlPlaneOptions, 'set' | 'checkout'>,
): Promise<void> {
  const running = lab.process('control-plane')
  if (running === null) throw new Error('no control plane runs')
  await lab.stop(running)
  await startControlPlane(lab, { port: Number(new URL(access.endpoint).port), ...how })
}
