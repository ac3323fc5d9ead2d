import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { Brain } from '../../../contract/agent.ts'
import { Switchboard } from './request/switchboard.ts'

export type ModelBrain = Extract<Brain, { kind: 'model' }>

/** A model, and the switchboard that its requests go through. */
export interface ModelSource {
  model: Pick<LanguageModelV4, 'doGenerate'>
  board: Switchboard
}

/** Always said explicitly: left out, some providers would take an address from the environment, and with it the key, elsewhere. */
const addresses = {
  anthropic: 'https://api.anthropic.com/v1',
  openai: 'https://api.openai.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
}

/** Loads the provider's package, which is not touched before it is needed. */
export async function loadProvider({ provider, model, baseURL }: ModelBrain, apiKey: string | undefined): Promise<ModelSource> {
  const key = apiKey ?? ''
  const board = new Switchboard()
  const { fetch } = board
  switch (provider) {
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return { model: createAnthropic({ baseURL: baseURL ?? addresses.anthropic, apiKey: key, fetch })(model), board }
    }
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return { model: createOpenAI({ baseURL: baseURL ?? addresses.openai, apiKey: key, fetch }).chat(model), board }
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google')
      return { model: createGoogle({ baseURL: baseURL ?? addresses.google, apiKey: key, fetch })(model), board }
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      const settings = { name: 'compatible', baseURL: baseURL ?? '', ...(apiKey === undefined ? {} : { apiKey }) }
      return { model: createOpenAICompatible({ ...settings, fetch })(model), board }
    }
  }
}
