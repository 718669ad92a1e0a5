//! The data folder as the place of the socket, and who may use it.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Name of the socket.
const SOCKET: &str = "control.sock";
/// Name of the file whose lock the server has that listens.
const LOCK: &str = "control.lock";

/// A data folder that is open.
pub(super) struct SocketFolder {
    folder: File,
    path: PathBuf,
}

impl SocketFolder {
    /// Opens a data folder.
    ///
    /// # Errors
    /// If there is no such folder, or it may not be entered.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { folder: File::open(path)?, path: path.to_owned() })
    }

    /// Returns the path of the socket.
    pub(super) fn socket_path(&self) -> PathBuf {
        self.short_path().join(SOCKET)
    }

    /// Returns the path of the file with the lock.
    pub(super) fn lock_path(&self) -> PathBuf {
        self.short_path().join(LOCK)
    }

    /// Returns the path of the folder, as the link of its open file where the system has such links: the address of a
    /// socket has 108 bytes at most, and the folder's own path may be longer.
    fn short_path(&self) -> PathBuf {
        let link = PathBuf::from(format!("/proc/self/fd/{}", self.folder.as_raw_fd()));
        if link.exists() { link } else { self.path.clone() }
    }

    /// Returns true if a user may use the socket: the owner of the folder, or root.
    ///
    /// # Errors
    /// If the owner of the folder cannot be read.
    pub(super) fn allows_user(&self, user: u32) -> io::Result<bool> {
        Ok(user == 0 || user == self.folder.metadata()?.uid())
    }

    /// Reads what is at the place of the socket, without following a link. Returns `None` if nothing is there.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub(super) fn find_socket(&self) -> io::Result<Option<Metadata>> {
        match fs::symlink_metadata(self.socket_path()) {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes the socket that a killed server has left behind. Call it only with the lock.
    ///
    /// # Errors
    /// If something else has its place, which is left as it is.
    pub(super) fn remove_socket(&self) -> io::Result<()> {
        match self.find_socket()? {
            None => Ok(()),
            // A link is removed itself, not the file that it leads to.
            Some(found) if found.file_type().is_socket() || found.is_symlink() => fs::remove_file(self.socket_path()),
            Some(_) => Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "a file that is no socket has the place of the socket",
            )),
        }
    }

    /// Checks that the socket is one that a server of this folder has made.
    ///
    /// # Errors
    /// `NotFound` if there is none. `PermissionDenied` if it is a link, another file, or the file of another user.
    pub(super) fn check_socket(&self) -> io::Result<()> {
        let found = self.find_socket()?.ok_or(io::ErrorKind::NotFound)?;
        if !found.file_type().is_socket() || !self.allows_user(found.uid())? {
            let message = "it is no socket of the folder's owner";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        Ok(())
    }
}
