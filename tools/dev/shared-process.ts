/**
 * Runs before each test file of the projects whose files share a process. A file that changes the process for the files
 * after it fails. Hooks after tests run in reverse order, so this one is the last of its file.
 */
import { afterAll } from 'vitest'
import { leftBehind, processState } from './process-state.ts'

const before = processState()

afterAll(() => {
  const left = leftBehind(before, processState())
  if (left.length > 0) throw new Error(`this file changes the process for those after it: ${left.join(', ')}`)
})
