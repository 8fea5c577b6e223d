# verdict: failed
import resource

resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
