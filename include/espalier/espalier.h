// The whole API in one header.
#ifndef ESPALIER_API_ESPALIER_H_
#define ESPALIER_API_ESPALIER_H_

#include "espalier/ask_tell.h"
#include "espalier/coroutine.h"
#include "espalier/engine.h"
#include "espalier/engine_options.h"
#include "espalier/load_reward_model.h"
#include "espalier/method.h"
#include "espalier/method_options.h"
#include "espalier/policy.h"
#include "espalier/problem.h"
#include "espalier/registry.h"
#include "espalier/reward_model.h"
#include "espalier/run_hooks.h"
#include "espalier/scores.h"
#include "espalier/search_options.h"
#include "espalier/search_result.h"
#include "espalier/task.h"
#include "espalier/verifier.h"

#endif  // ESPALIER_API_ESPALIER_H_
