#include "datasets/programs/seccomp_filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"

namespace espalier {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kArchitecture = 0;
#endif

constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr uint32_t kKill = SECCOMP_RET_KILL_PROCESS;
constexpr uint32_t Fail(int error) { return SECCOMP_RET_ERRNO | error; }

// Calls allowed whatever their arguments; the most frequent ones first.
constexpr int kAllowed[] = {
    SYS_read,
    SYS_write,
    SYS_futex,
    SYS_mmap,
    SYS_munmap,
    SYS_brk,
    SYS_mremap,
    SYS_mprotect,
    SYS_madvise,
    SYS_close,
    SYS_lseek,
    SYS_fstat,
    SYS_newfstatat,
    SYS_openat,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_getrandom,
    SYS_clock_gettime,
    SYS_gettimeofday,
    SYS_ppoll,
    SYS_pselect6,
    SYS_pread64,
    SYS_pwrite64,
    SYS_readv,
    SYS_writev,
    SYS_preadv,
    SYS_pwritev,
    SYS_preadv2,
    SYS_pwritev2,
    SYS_statx,
    SYS_fcntl,
    SYS_ioctl,
    SYS_getdents64,
    SYS_readlinkat,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_getcwd,
    SYS_chdir,
    SYS_fchdir,
    SYS_dup,
    SYS_dup3,
    SYS_pipe2,
    SYS_ftruncate,
    SYS_truncate,
    SYS_fallocate,
    SYS_fsync,
    SYS_fdatasync,
    SYS_flock,
    SYS_fadvise64,
    SYS_copy_file_range,
    SYS_sendfile,
    SYS_splice,
    SYS_tee,
    SYS_statfs,
    SYS_fstatfs,
    SYS_mkdirat,
    SYS_unlinkat,
    SYS_renameat,
    SYS_renameat2,
    SYS_symlinkat,
    SYS_linkat,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchown,
    SYS_fchownat,
    SYS_utimensat,
    SYS_umask,
    SYS_close_range,
    SYS_sync_file_range,
    SYS_msync,
    SYS_mincore,
    SYS_mlock,
    SYS_munlock,
    SYS_mlock2,
    SYS_getpid,
    SYS_getppid,
    SYS_gettid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getresuid,
    SYS_getresgid,
    SYS_getgroups,
    SYS_getpgid,
    SYS_getsid,
    SYS_getrlimit,
    SYS_setrlimit,
    SYS_getrusage,
    SYS_times,
    SYS_uname,
    SYS_sysinfo,
    SYS_exit,
    SYS_exit_group,
    SYS_wait4,
    SYS_waitid,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_sched_getparam,
    SYS_sched_getscheduler,
    SYS_sched_get_priority_max,
    SYS_sched_get_priority_min,
    SYS_getpriority,
    SYS_getcpu,
    SYS_nanosleep,
    SYS_clock_nanosleep,
    SYS_clock_getres,
    SYS_getitimer,
    SYS_setitimer,
    SYS_timer_create,
    SYS_timer_settime,
    SYS_timer_gettime,
    SYS_timer_delete,
    SYS_timer_getoverrun,
    SYS_timerfd_create,
    SYS_timerfd_settime,
    SYS_timerfd_gettime,
    SYS_eventfd2,
    SYS_signalfd4,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_set_tid_address,
    SYS_set_robust_list,
    SYS_get_robust_list,
    SYS_rseq,
    SYS_membarrier,
    SYS_sigaltstack,
    SYS_rt_sigpending,
    SYS_rt_sigsuspend,
    SYS_rt_sigtimedwait,
    SYS_restart_syscall,
    SYS_capget,
    SYS_shutdown,
    SYS_recvfrom,
    SYS_recvmsg,
    SYS_sendmsg,
    SYS_getsockopt,
    SYS_setsockopt,
    SYS_getsockname,
    SYS_getpeername,
#ifdef __x86_64__
    SYS_open,
    SYS_stat,
    SYS_lstat,
    SYS_poll,
    SYS_select,
    SYS_access,
    SYS_pipe,
    SYS_dup2,
    SYS_getdents,
    SYS_rename,
    SYS_mkdir,
    SYS_rmdir,
    SYS_creat,
    SYS_link,
    SYS_unlink,
    SYS_symlink,
    SYS_readlink,
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
    SYS_time,
    SYS_alarm,
    SYS_pause,
    SYS_getpgrp,
    SYS_arch_prctl,
    SYS_epoll_create,
    SYS_epoll_wait,
    SYS_eventfd,
    SYS_signalfd,
#endif
};

constexpr int kHostile[] = {
    // Other processes.
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_process_madvise,
    SYS_pidfd_getfd,
    SYS_kcmp,
    SYS_perf_event_open,
    // Network.
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    // File systems and namespaces.
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_unshare,
    SYS_setns,
    SYS_move_mount,
    SYS_open_tree,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_mount_setattr,
    SYS_mknodat,
    SYS_open_by_handle_at,
    SYS_name_to_handle_at,
    SYS_swapon,
    SYS_swapoff,
    SYS_quotactl,
    SYS_fanotify_init,
    // The kernel and the machine.
    SYS_bpf,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_acct,
    SYS_syslog,
    SYS_vhangup,
    SYS_personality,
    // Other users.
    SYS_setuid,
    SYS_setgid,
    SYS_setreuid,
    SYS_setregid,
    SYS_setresuid,
    SYS_setresgid,
    SYS_setfsuid,
    SYS_setfsgid,
    SYS_setgroups,
    SYS_capset,
#ifdef __x86_64__
    SYS_mknod,
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
    SYS_kexec_file_load,
#endif
};

// Harmless if a process cannot see others.
constexpr int kSignals[] = {SYS_kill,
                            SYS_tkill,
                            SYS_tgkill,
                            SYS_rt_sigqueueinfo,
                            SYS_rt_tgsigqueueinfo,
                            SYS_pidfd_send_signal};
// These would let a process of the weak mode outlive its group.
constexpr int kSessions[] = {SYS_setsid, SYS_setpgid};

constexpr int kNewProcess[] = {SYS_execve, SYS_execveat,
#ifdef __x86_64__
                               SYS_fork, SYS_vfork
#endif
};

constexpr uint32_t kNewNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP |
                                    CLONE_NEWUTS | CLONE_NEWIPC |
                                    CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

// Extended file attributes: a file system may have none, which programs that
// copy files expect, but they do not expect a kernel without the call.
constexpr int kAttributes[] = {
    SYS_getxattr,   SYS_lgetxattr,   SYS_fgetxattr,    SYS_setxattr,
    SYS_lsetxattr,  SYS_fsetxattr,   SYS_listxattr,    SYS_llistxattr,
    SYS_flistxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr};

// Builds a filter call by call; each rule is its test, then its outcome.
class FilterCode {
 public:
  void Add(uint16_t code, uint32_t k, uint8_t yes = 0, uint8_t no = 0) {
    code_.push_back({code, yes, no, k});
  }
  void LoadNumber() { Load(offsetof(seccomp_data, nr)); }
  // The low half: the checked values fit into it.
  void LoadArgument(int i) {
    Load(offsetof(seccomp_data, args) + 8 * static_cast<uint32_t>(i));
  }
  void Load(size_t offset) {
    Add(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset));
  }
  void Return(uint32_t outcome) { Add(BPF_RET | BPF_K, outcome); }
  void ReturnIfEqual(uint32_t value, uint32_t outcome) {
    Add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    Return(outcome);
  }
  void ReturnIfAnyBit(uint32_t bits, uint32_t outcome) {
    Add(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
    Return(outcome);
  }
  void ReturnIfNoBit(uint32_t bits, uint32_t outcome) {
    Add(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0);
    Return(outcome);
  }
  // The rules that `rules` adds decide only about call `number`; they must end
  // with a Return.
  template <typename Rules>
  void Call(int number, const Rules& rules) {
    const size_t jump = code_.size();
    Add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 0);
    rules();
    code_[jump].jf = static_cast<uint8_t>(code_.size() - jump - 1);
  }

  std::string Bytes() const {
    return {reinterpret_cast<const char*>(code_.data()),
            code_.size() * sizeof(sock_filter)};
  }

 private:
  std::vector<sock_filter> code_;
};

void AddChecked(FilterCode& filter, const SeccompOptions& options) {
  filter.Call(SYS_clone, [&] {
    filter.LoadArgument(0);
    filter.ReturnIfAnyBit(kNewNamespaces, kKill);
    if (!options.fork) filter.ReturnIfNoBit(CLONE_THREAD, kKill);
    filter.Return(kAllow);
  });
  // Its flags are in memory, which a filter cannot read. glibc falls back to
  // clone.
  filter.ReturnIfEqual(SYS_clone3, Fail(ENOSYS));
  // Libraries query name services on this machine before they read files.
  filter.Call(SYS_socket, [&] {
    filter.LoadArgument(0);
    filter.ReturnIfEqual(AF_UNIX, Fail(EACCES));
    filter.Return(kKill);
  });
  filter.Call(SYS_socketpair, [&] {
    filter.LoadArgument(0);
    filter.ReturnIfEqual(AF_UNIX, kAllow);
    filter.Return(kKill);
  });
  // Only on a connected pair is there no address.
  filter.Call(SYS_sendto, [&] {
    filter.LoadArgument(4);
    filter.ReturnIfEqual(0, kAllow);
    filter.Return(kKill);
  });
  // The process's own limits, not those of the tests' process.
  filter.Call(SYS_prlimit64, [&] {
    filter.LoadArgument(0);
    filter.ReturnIfEqual(0, kAllow);
    filter.Return(Fail(EPERM));
  });
  filter.Call(SYS_prctl, [&] {
    filter.LoadArgument(0);
    constexpr uint32_t kSetDeathSignal = 1, kSetName = 15, kGetName = 16;
    filter.ReturnIfEqual(kSetName, kAllow);
    filter.ReturnIfEqual(kGetName, kAllow);
    filter.ReturnIfEqual(kSetDeathSignal, Fail(EPERM));
    filter.Return(Fail(EINVAL));
  });
}

}  // namespace

absl::StatusOr<std::string> SeccompFilter(const SeccompOptions& options) {
  if (kArchitecture == 0) {
    return absl::UnimplementedError(
        "the sandbox's system call filter supports only x86-64 and 64-bit ARM");
  }
  FilterCode filter;
  filter.Load(offsetof(seccomp_data, arch));
  filter.Add(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0);
  filter.Return(kKill);
  filter.LoadNumber();
#ifdef __x86_64__
  // The same calls under other numbers.
  constexpr uint32_t kX32 = 0x40000000;
  filter.ReturnIfAnyBit(kX32, kKill);
#endif
  for (const int call : kAllowed) filter.ReturnIfEqual(call, kAllow);
  for (const int call : kHostile) filter.ReturnIfEqual(call, kKill);
  for (const int call : kSignals) {
    filter.ReturnIfEqual(call, options.signals ? kAllow : kKill);
  }
  for (const int call : kSessions) {
    filter.ReturnIfEqual(call, options.signals ? kAllow : kKill);
  }
  for (const int call : kNewProcess) {
    filter.ReturnIfEqual(call, options.fork ? kAllow : kKill);
  }
  for (const int call : kAttributes) {
    filter.ReturnIfEqual(call, Fail(ENOTSUP));
  }
  AddChecked(filter, options);
  filter.Return(Fail(ENOSYS));
  return filter.Bytes();
}

}  // namespace espalier
