import { expect, test } from 'vitest'
import { Listeners } from './listeners.ts'

const failing = (told: string) => () => {
  throw new Error(told)
}

test('tells each listener until it is removed', () => {
  const heard: string[] = []
  const listeners = new Listeners<string>()
  const remove = listeners.add((told) => heard.push(`a ${told}`))
  listeners.add((told) => heard.push(`b ${told}`))
  listeners.tell('1')
  remove()
  listeners.tell('2')
  expect(heard).toEqual(['a 1', 'b 1', 'b 2'])
  expect(listeners.size).toBe(1)
})

test('a listener that throws stops no other, and its error is thrown or handed over', () => {
  const heard: string[] = []
  const [throwing, handing] = [new Listeners(), new Listeners((error) => heard.push(String(error)))]
  for (const listeners of [throwing, handing]) {
    listeners.add(failing('one'))
    listeners.add(failing('two'))
    listeners.add(() => heard.push('told'))
  }
  expect(() => throwing.tell()).toThrow('one')
  expect(heard).toEqual(['told'])
  handing.tell()
  expect(heard).toEqual(['told', 'Error: one', 'Error: two', 'told'])
})

test('a listener may remove others and add new ones, which hear of the next', () => {
  const heard: string[] = []
  const listeners = new Listeners<string>()
  listeners.add((told) => {
    heard.push(`first ${told}`)
    remove()
    if (listeners.size < 2) listeners.add((later) => heard.push(`new ${later}`))
  })
  const remove = listeners.add((told) => heard.push(`removed ${told}`))
  listeners.tell('1')
  expect(heard).toEqual(['first 1'])
  listeners.tell('2')
  expect(heard).toEqual(['first 1', 'first 2', 'new 2'])
})
