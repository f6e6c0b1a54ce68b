import { expect, it } from 'vitest'
import { classRows } from './class-rows.ts'

const PROJECT = 'p'
const offer = (name: string, more: object = {}) => ({ id: `id-${name}`, name, enabled: true, ...more })

it('a project has the classes that it may use, has a limit of or load balancers of, each once and by name', () => {
  const gold = { id: 'id-gold', name: 'gold', limit: 5, used: 4 }
  const closed = { id: 'id-closed', name: 'closed', limit: null, used: 2 }
  const offered = [
    ...[offer('silver'), offer('gold'), offer('own', { projectIds: [PROJECT] })],
    ...[offer('closed', { projectIds: [] }), offer('foreign', { projectIds: ['q'] }), offer('old', { enabled: false })],
  ]
  expect(classRows([gold, closed], offered, PROJECT)).toEqual([
    { id: 'id-closed', title: 'Load balancers of class closed', limit: null, used: 2, level: 'ok' },
    { id: 'id-gold', title: 'Load balancers of class gold', limit: 5, used: 4, level: 'warn' },
    { id: 'id-own', title: 'Load balancers of class own', limit: null, used: 0, level: 'ok' },
    { id: 'id-silver', title: 'Load balancers of class silver', limit: null, used: 0, level: 'ok' },
  ])
})

it('where there are no classes, there is nothing', () => {
  expect(classRows([], [], PROJECT)).toEqual([])
})

it('a class that was lowered to none is full while the project still has one', () => {
  const [full, empty] = classRows(
    [
      { id: '1', name: 'a', limit: 0, used: 1 },
      { id: '2', name: 'b', limit: 0, used: 0 },
    ],
    [],
    PROJECT,
  )
  expect([full?.level, empty?.level]).toEqual(['bad', 'ok'])
})
