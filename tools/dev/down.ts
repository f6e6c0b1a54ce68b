import { Lab } from '@spout/testkit'
import { readState, removeState } from './state.ts'
import type { Verb } from './verb.ts'

/** `./dev down` */
export const down: Verb = {
  name: 'down',
  usage: '',
  summary: 'removes everything that up made',
  async run() {
    const state = readState()
    const lab = state && Lab.open(state.labId)
    await lab?.destroy()
    await Lab.sweep()
    removeState()
    process.stdout.write(
      lab ? 'Taken down: processes, namespaces and files of the lab are gone.\n' : 'Nothing was up.\n',
    )
    return 0
  },
}
