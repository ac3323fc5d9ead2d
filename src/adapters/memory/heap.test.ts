import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Heap } from './heap.ts'

it('gives back what was put in, first things first, however pushes and pops mix', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer(), { nil: 'pop' as const })), (steps) => {
      const heap = new Heap<number>((a, b) => a < b)
      let model: number[] = []
      for (const step of steps) {
        if (step === 'pop') {
          expect(heap.pop()).toBe(model[0])
          model = model.slice(1)
        } else {
          heap.push(step)
          model = [...model, step].sort((a, b) => a - b)
        }
        expect(heap.first).toBe(model[0])
      }
    }),
  )
})
