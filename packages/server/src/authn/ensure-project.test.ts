import { expect, test } from 'vitest'
import { openTestBed } from '../testing/test-bed.ts'
import { ensureClusterProject, ensureProject } from './ensure-project.ts'

test('a project is created once, and not changed after that', async () => {
  const bed = await openTestBed()
  try {
    const made = await ensureClusterProject(bed, 'cluster')
    expect(made).toMatchObject({ name: 'cluster', description: 'Of the cluster that Spout is in' })
    const revision = await bed.store.revision()
    expect(await ensureProject(bed, { name: 'cluster', description: 'Another' })).toEqual(made)
    expect(await bed.store.revision()).toBe(revision)
  } finally {
    await bed.close()
  }
})
