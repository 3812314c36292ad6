import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface BenchVision {
  /** For GARNER_VISION_URL. */
  url: string
  close(): void
}

const DESCRIBED = {
  description: 'Buttered toast with a fried egg',
  not_food: false,
  items: [
    {
      ...{ food: 'Bread, white, toasted', serving: '1 slice', grams: 30 },
      ...{ energy_kcal: 88, protein_g: 2.7, carbohydrate_g: 16.3, fat_g: 1.2, fiber_g: 0.8 },
    },
    {
      ...{ food: 'Egg, fried', serving: '1 egg', grams: 46 },
      ...{ energy_kcal: 90, protein_g: 6.3, carbohydrate_g: 0.4, fat_g: 6.8, fiber_g: 0 },
    },
  ],
}

/** A provider with Chat Completions alone that answers at once, or never. */
export async function startVision(answers: 'at once' | 'never'): Promise<BenchVision> {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      if (!request.url?.endsWith('/chat/completions')) {
        response
          .writeHead(404, { 'content-type': 'application/json' })
          .end('{"error":{"message":"no such path"}}')
        return
      }
      if (answers === 'never') return
      const message = { role: 'assistant', content: JSON.stringify(DESCRIBED) }
      const body = { id: 'c', object: 'chat.completion', created: 0, model: 'bench' }
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ ...body, choices }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
