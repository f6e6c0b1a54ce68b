import { expect, test } from 'vitest'
import { BrokenKeys } from './broken-keys.ts'

test('reports that the node carries nothing while all load balancers are broken, and counts them only while some are', () => {
  const said: string[] = []
  let counted = 0
  const broken = new BrokenKeys((healthy, reason) => said.push(`${healthy} ${reason}`))
  const settle = () =>
    broken.settle(() => {
      counted++
      return 2
    })
  settle()
  expect(counted).toBe(0)
  broken.lost(['lb/a'])
  settle()
  expect(said).toEqual([])
  broken.lost(['lb/a', 'lb/b'])
  settle()
  settle()
  expect(said).toEqual(['false the data plane lost all 2 load balancers and cannot repair them'])
  expect(counted).toBe(3)
  broken.mended('lb/a')
  broken.mended('lb/b')
  settle()
  expect(said.slice(1)).toEqual(['true '])
  expect(counted).toBe(3)
})
