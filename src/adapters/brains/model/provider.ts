import type { LanguageModel } from 'ai'
import type { Brain } from '../../../contract/agent.ts'
import type { Fetch } from './request/transport.ts'

export type ModelBrain = Extract<Brain, { kind: 'model' }>

/** A model that reaches its server through the given `fetch`. */
export type ModelSource = (fetch: Fetch) => LanguageModel

/** Always said explicitly: left out, some providers would take an address from the environment, and with it the key, elsewhere. */
const addresses = {
  anthropic: 'https://api.anthropic.com/v1',
  openai: 'https://api.openai.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
}

/** Loads the provider's package, which is not touched before it is needed. */
export async function loadProvider({ provider, model, baseURL }: ModelBrain, apiKey: string | undefined): Promise<ModelSource> {
  const key = apiKey ?? ''
  switch (provider) {
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return (fetch) => createAnthropic({ baseURL: baseURL ?? addresses.anthropic, apiKey: key, fetch })(model)
    }
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return (fetch) => createOpenAI({ baseURL: baseURL ?? addresses.openai, apiKey: key, fetch }).chat(model)
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google')
      return (fetch) => createGoogle({ baseURL: baseURL ?? addresses.google, apiKey: key, fetch })(model)
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      const settings = { name: 'compatible', baseURL: baseURL ?? '', ...(apiKey === undefined ? {} : { apiKey }) }
      return (fetch) => createOpenAICompatible({ ...settings, fetch })(model)
    }
  }
}
